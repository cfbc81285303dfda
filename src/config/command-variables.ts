/** Variables that commands read for themselves. They are no options, but may stand in the same shell as the options of `serve`. */

/** The admin token of running instances, for `report`, `status`, `gate` and `force`. */
export const ADMIN_TOKEN_VARIABLE = "CARRYOVER_ADMIN_TOKEN";
/**
 * Options of `serve` that these commands read as well, so that they work without arguments in the container of an instance: the file
 * with the admin token, the admin port, and the directory of the state.
 */
export const ADMIN_TOKEN_FILE_VARIABLE = "CARRYOVER_ADMIN_TOKEN_FILE";
export const ADMIN_PORT_VARIABLE = "CARRYOVER_ADMIN_PORT";
export const STATE_DIR_VARIABLE = "CARRYOVER_STATE_DIR";
/** A token of the platform, for `check`. */
export const CHECK_TOKEN_VARIABLE = "CARRYOVER_CHECK_TOKEN";
