/** The command line that `npm run dev` runs: `demo`, unless another command is named. */
export function devWords(given) {
  const [first] = given;
  return first === undefined || first.startsWith("-") ? ["demo", ...given] : given;
}
