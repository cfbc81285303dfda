/** Request lines that readers take apart in different ways. A table has the name of each oddity and its text, as latin1. */

/** Odd texts by name. */
export type Odd = Readonly<Record<string, string>>;

/** Targets that are not a path, or name another host. */
export const NO_PATHS: Odd = {
  "absolute target inside the network": "http://169.254.169.254/latest/meta-data/",
  "absolute target with TLS": "https://evil.example/x",
  "absolute target without a path": "http://evil.example",
  "absolute target with user": "http://a.example@evil.example/x",
  "absolute target of this very host": "http://a/iam/v1/groups",
  "authority as target": "evil.example:80",
  "target with user": "@evil.example/x",
  "target with two slashes": "//evil.example/x",
  "two slashes before a path of the API": "//iam/v1/groups",
  "target with slash and backslash": "/\\evil.example/x",
  "target without a slash": "iam/v1/groups",
  "question mark as target": "?x=1",
  "empty target": "",
};

/** Dot segments in all their spellings. */
export const DOTS: Odd = {
  "dot segment": "/iam/v1/./groups",
  "two dots": "/iam/v1/../admin",
  "more dots than segments": "/iam/v1/groups/a/../../../admin",
  "two dots at the end": "/iam/v1/..",
  "two dots before the query": "/iam/v1/..?x=1",
  "encoded dots": "/iam/v1/groups/%2e%2E/admin",
  "encoded dots, twice": "/iam/v1/groups/%2e%2e/%2e%2e/admin",
  "half encoded dots": "/iam/v1/.%2e/admin",
  "encoded slash behind dots": "/iam/v1/..%2fadmin",
  "encoded backslashes around dots": "/iam/v1/x%5c..%5cadmin",
  "backslash behind dots": "/iam/v1/..\\admin",
  "dots with a path parameter": "/iam/v1/..;a=b/admin",
  "dots with an empty path parameter": "/iam/v1/groups/..;/admin",
  "dots from v1 to v2": "/iam/v1/../v2beta1/groups",
  "dots from v2 to v1": "/iam/v2beta1/../v1/groups",
  "dots behind a collection of v2": "/iam/v2beta1/groups/../../v1/groups",
};

/** Bytes that no target may hold. */
export const ODD_BYTES: Odd = {
  fragment: "/iam/v1/groups#f",
  "fragment behind a query": "/iam/v1/groups?x=1#y",
  "control byte in the target": "/x\x01y",
  "NUL in the target": "/iam/v1/groups/a\0b",
  "tab in the target": "/x\t/y",
  "space in the target": "/iam/v1/groups /x",
};

/** Paths of v1 that the router cannot read in one way only. */
export const AMBIGUOUS: Odd = {
  "dots encoded twice": "/iam/v1/%252e%252e/admin",
  "invalid escape": "/iam/v1/groups/%zz",
  "percent sign at the end": "/iam/v1/groups/%",
  "percent sign alone": "/iam/v1/%",
  "empty segment": "/iam/v1//groups",
  "encoded NUL": "/iam/v1/groups/%00",
  "encoded line end": "/iam/v1/groups/%0d%0aX:1",
  "encoded question mark": "/iam/v1/groups%3Fadmin=1",
  "encoded number sign": "/iam/v1/groups%23x",
  "encoded percent sign": "/iam/v1/groups/a%252Fb",
  "encoded space": "/iam/v1/groups/a%20b",
  "encoded slash at the end": "/iam/v1/groups/a%2F",
  "two encoded slashes": "/iam/v1/groups/a%2F%2Fb",
  "path parameter": "/iam/v1/groups;x=1",
  "encoded letter of the domain": "/%69am/v1/groups",
  "encoded letter of the collection": "/iam/v1/%67roups",
  "encoded version": "/iam/%76%31/groups",
  "encoded slash in the prefix": "/iam%2Fv1/groups",
  "encoded slashes alone": "/iam%2fv1%2fgroups",
  "encoded slash behind the version": "/iam/v1%2Fgroups",
  "escape in a path that nothing has": "/iam/v1/unknown/%25",
  "bytes beyond ASCII": "/iam/v1/groups/\xc3\xa4",
  "escaped bytes beyond ASCII": "/iam/v1/groups/%C3%A4",
  "overlong dots": "/iam/v1/groups/%c0%ae%c0%ae/admin",
  "three dots": "/iam/v1/groups/.../x",
  "encoded backslash": "/iam/v1/groups/a%5cb",
  "slash at the end of a uid": "/iam/v1/groups/a/",
  "encoded letter of v2's domain": "/%69am/v2beta1/groups",
  "encoded letter of v2's version": "/iam/%762beta1/groups",
  "encoded slash before v2": "/iam%2Fv2beta1/groups",
  "encoded slash behind v2": "/iam/v2beta1%2Fgroups",
};

/** Unknown paths that look like paths of the API. */
export const UNKNOWN: Odd = {
  "no path": "/",
  "path of the admin port": "/metrics",
  "another path of the admin port": "/readyz",
  "well-known path": "/.well-known/x",
  "path parameter of the version": "/iam/v1;x=1/groups",
  "prefix in capitals": "/IAM/V1/groups",
  "prefix that goes on": "/iam/v1x/groups",
  "version in the query only": "/x?/iam/v1/groups",
  "version in a path parameter only": "/x;/iam/v1/groups",
  "v2 prefix in capitals": "/Iam/v2beta1/groups",
  "v2 prefix that goes on": "/iam/v2beta1x/groups",
  "path parameter of v2": "/iam/v2beta1;x=1/groups",
  "empty segment before v1": "/iam//v1/groups",
  "empty segment before v2": "/iam//v2beta1/groups",
};

/** Targets of v2, which gets them as they are. */
export const PASSED = [
  "/iam/v2beta1/groups?page_token=a+b%2Bc/d=%3D&x=1&x=2&&=&%zz&y",
  "/iam/v2beta1/groups//a",
  "/iam/v2beta1/groups/a%2Fb",
] as const;

/** Methods that carryover's reader of HTTP does not know; others that the API does not have. */
export const NO_METHODS: Odd = {
  "unknown method": "FOO",
  "lower-case method": "get",
  TRACK: "TRACK",
  "method behind a space": " GET",
  "space in a method": "GE T",
  "tab behind a method": "GET\t",
  "NUL in a method": "G\0T",
  "method of the HTTP/2 preface": "PRI",
};
export const OTHER_METHODS: Odd = { TRACE: "TRACE", PURGE: "PURGE", PROPFIND: "PROPFIND" };

export const VERSIONS: Odd = {
  "HTTP/2.0 in a request line": "HTTP/2.0",
  "HTTP/1.2": "HTTP/1.2",
  "HTTP/0.9 by its number": "HTTP/0.9",
  "HTTP/3.0": "HTTP/3.0",
  "version with two digits": "HTTP/1.10",
  "version with a leading zero": "HTTP/01.1",
  "version in lower case": "http/1.1",
  "version before a space": "HTTP/1.1 ",
};

/** Pieces that odd and honest targets are made of. */
export const PATH_PIECES = [
  ...["/", "//", ".", "..", "...", "/../", "/./", "/%2e%2e/", "%2F", "%2f", "%252F", "%2e", "%25", "%00", "%0d%0aX:1"],
  ...["%5C", "%5c", "\\", ";", ";x=1", "?", "#", "&", "%", "%zz", ":", ":check", "~", "@", "@evil", "\xc3\xa9", "\0"],
  ...["v1", "/v2beta1/", "http://169.254.169.254/", "groups", "batch", "lookup"],
] as const;
