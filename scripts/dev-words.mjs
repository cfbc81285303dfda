/** Which command does `npm run dev` run? `demo`, unless another is named: options alone are options of `demo`. */
export function devWords(given) {
  const [first] = given;
  return first === undefined || first.startsWith("-") ? ["demo", ...given] : given;
}
