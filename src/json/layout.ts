/**
 * Where things lie in the kernel's memory: byte offsets. The kernel (`kernel/*.ts`) reads what the host (`program.ts`) writes; both import this file.
 * Every record begins at a multiple of 8, every run of bytes at a multiple of 16.
 */

/** First bytes: what the kernel and the host tell each other. */
export const LAST_END = 64;
export const COUNT = 68;
/** Of the object that `finish` is called for: the slots that came out (two words), and whether a member was kept. */
export const SEEN = 72;
export const KEPT = 80;
/** One comma, which the host puts here. */
export const COMMA = 88;
/** The number of the current call. */
export const CALL = 92;
/** The name, and the rule, that are not remembered. */
export const SCRATCH_NAME = 96;
export const SCRATCH_RULE = 144;
/** 1 when the keys of the slice that were gathered last ascend, byte by byte. */
export const ASCENDING = 192;
/** Where each record of a slice begins and ends in the new text, and its key (string token) in the source. */
export const RECORDS = 256;
export const RECORD_SIZE = 16;
export const MOST_RECORDS = 1_024;
/** Plans, rules, and names met so far. */
export const ARENA = 16_640;
/** The text. What is made of it comes after it. */
export const TEXT = 262_144;

/** Zero bytes after the text: no token may hold one. As many may be read after anything, and written after the new text. */
export const PADDING = 32;

/** A plan: the kind, the number under which the host knows it, and for arrays and maps the plan of what is inside. */
export const PLAN_KIND = 0;
export const PLAN_ID = 4;
export const PLAN_ITEMS = 8;
export const KIND_OBJECT = 1;
export const KIND_ARRAY = 2;
export const KIND_MAP = 3;
export const KIND_ENUM = 4;
export const KIND_CONVERT = 5;

/** An object: a name that stands before all names, then what is inserted, and whether the host finishes it. */
export const OBJECT_HEAD = 8;
export const OBJECT_INSERTS = 56;
export const OBJECT_INSERT_COUNT = 60;
export const OBJECT_FINISH = 64;
export const OBJECT_SIZE = 72;

/** A member to be inserted: the slot it must find empty, and its bytes, which begin with a comma. */
export const INSERT_SLOT = 0;
export const INSERT_BYTES = 8;
export const INSERT_LENGTH = 12;
export const INSERT_SIZE = 16;

/** An enum: the entry met last, and all entries. An entry: its string token, and what is written for it (length 0: it stays). */
export const ENUM_LAST = 8;
export const ENUM_ENTRIES = 12;
export const ENUM_COUNT = 16;
export const ENUM_SIZE = 24;
export const ENTRY_BYTES = 0;
export const ENTRY_LENGTH = 4;
export const ENTRY_NEW_BYTES = 8;
export const ENTRY_NEW_LENGTH = 12;
export const ENTRY_SIZE = 16;

/** What becomes of a member. */
export const RULE_FLAGS = 0;
export const RULE_ID = 4;
export const RULE_SLOT = 8;
export const RULE_KEY_BYTES = 16;
export const RULE_KEY_LENGTH = 20;
export const RULE_VALUE = 24;
/** The call in which the rule was counted last, and how often. */
export const RULE_CALL = 28;
export const RULE_COUNT = 32;
export const RULE_SIZE = 40;
export const FLAG_LEAVE_OUT = 1;
export const FLAG_CAPTURE = 2;
export const FLAG_KEY = 4;
export const FLAG_REPORT = 8;
/** There is a new key, or a plan for the value. */
export const FLAG_EDIT = 16;

/** A name as it stands in texts, from the end of the member before it to its colon. Offsets count from there. */
export const NAME_NEXT = 0;
export const NAME_LINK = 4;
export const NAME_RULE = 8;
export const NAME_BYTES = 12;
export const NAME_LENGTH = 16;
export const NAME_QUOTE = 20;
export const NAME_END = 24;
/** 1 for a name that comes right after the brace. */
export const NAME_FIRST = 28;
export const NAME_SIZE = 48;

/** Why a text is refused: positions in the host's list of reasons. */
export const REASON_CONTROL = 0;
export const REASON_ESCAPE = 1;
export const REASON_DIGIT = 2;
export const REASON_VALUE = 3;
export const REASON_COLON = 4;
export const REASON_COMMA_OBJECT = 5;
export const REASON_COMMA_ARRAY = 6;
export const REASON_LAST_COMMA = 7;
export const REASON_DEPTH = 8;
export const REASON_NAME = 9;
export const REASON_REPEATED = 10;
export const REASON_RECORD = 11;
export const REASON_NO_KEY = 12;
export const REASON_KEY_STRING = 13;
export const REASON_AFTER = 14;
