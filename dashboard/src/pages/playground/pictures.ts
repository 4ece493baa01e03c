/** Reads pictures that the reader adds, as `data:` addresses. */
import type { Picture } from './request.js';

const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const bytesMax = 5_000_000;
const picturesMax = 5;

/** What cannot be taken is said, and the rest is taken. */
export async function readPictures(
  files: FileList | null,
  known: readonly Picture[],
): Promise<{ read: Picture[]; fault: string | null }> {
  const read: Picture[] = [];
  let fault: string | null = null;
  for (const file of files ?? []) {
    if (!types.includes(file.type)) fault = `${file.name} is not a PNG, JPEG, WebP or GIF picture.`;
    else if (file.size > bytesMax) fault = `${file.name} has more than 5 MB. Choose a smaller picture.`;
    else if (known.length + read.length >= picturesMax) fault = `A message can have ${picturesMax} pictures.`;
    else read.push({ name: freeName(file.name, [...known, ...read]), url: await addressOf(file) });
  }
  return { read, fault };
}

function freeName(name: string, taken: readonly Picture[]): string {
  let free = name;
  for (let number = 2; taken.some((one) => one.name === free); number++) free = `${number}: ${name}`;
  return free;
}

function addressOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The picture cannot be read.'));
    reader.readAsDataURL(file);
  });
}
