/** How does a client read a whole list from v2's pages? (Shown to people; the tests run it.) */

/** A shell function; needs curl and jq. Gives a JSON array of all records, each once, or fails. */
export const SHELL_LOOP = `# list_all PATH MEMBER, such as: list_all /iam/v2beta1/groups groups
list_all() (
  records=$(mktemp) page=$(mktemp) token= count=0
  trap 'rm -f "$records" "$page"' EXIT
  while :; do
    # The filters of the list go here as further --data-urlencode, the same for every page.
    curl -fsS -G "$API$1" -H "Authorization: Bearer $TOKEN" -d page_size=200 \\
      \${token:+--data-urlencode "page_token=$token"} > "$page" || exit 1
    jq -c ".$2[]?" "$page" >> "$records"
    token=$(jq -r '.nextPageToken // ""' "$page")
    [ -n "$token" ] || break
    # No new record although there are more pages: the token has expired and the list began again. Call it anew.
    before=$count
    count=$(jq -s 'unique_by(.uid) | length' "$records")
    [ "$count" -gt "$before" ] || exit 1
  done
  # Records that moved from page to page meanwhile came twice.
  jq -s 'unique_by(.uid)' "$records"
)`;

/** A function in JavaScript, the same in TypeScript. Rejects rather than giving a part of a list. */
export const CODE_LOOP = `// API: the platform's address. headers: { authorization: "Bearer …" }. filters: those of the list, as URLSearchParams takes them.
async function listAll(path, member, filters = {}) {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const records = new Map();
    let token = "";
    for (;;) {
      const query = new URLSearchParams(filters);
      query.set("page_size", "200");
      if (token !== "") query.set("page_token", token);
      const response = await fetch(\`\${API}\${path}?\${query}\`, { headers });
      // A token that has expired: start over.
      if (token !== "" && response.status === 400) break;
      if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);
      const page = await response.json();
      const before = records.size;
      // By uid: a record that moved from page to page meanwhile comes twice.
      for (const record of page[member] ?? []) records.set(record.uid, record);
      token = page.nextPageToken ?? "";
      if (token === "") return [...records.values()];
      // Some platforms begin again when a token has expired, without an error: then nothing is new. Start over.
      if (records.size === before) break;
    }
  }
  throw new Error(\`\${path}: its pages made no whole list\`);
}`;
