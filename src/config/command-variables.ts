/** Variables that commands read for themselves. They are no options, but may stand in the same shell as the options of `serve`. */

/** The admin token of running instances, for `report`, `status`, `gate` and `force`. */
export const ADMIN_TOKEN_VARIABLE = "CARRYOVER_ADMIN_TOKEN";
/** A token of the platform, for `check`. */
export const CHECK_TOKEN_VARIABLE = "CARRYOVER_CHECK_TOKEN";
