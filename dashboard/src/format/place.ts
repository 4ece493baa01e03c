/** The names of the places of routes. */

/** Of a `global` route: its endpoint has no region. */
const noFixedRegion = 'No fixed region';

/** The city of a locode; the locode itself where its city is not known. */
export function placeName(city: string | null | undefined, locode: string): string {
  return city ?? (locode === 'global' ? noFixedRegion : locode);
}

/** The same with the locode, for a reader who writes it into requests. */
export function placeWithLocode(city: string | null | undefined, locode: string): string {
  const name = placeName(city, locode);
  return name === locode ? name : `${name} (${locode})`;
}
