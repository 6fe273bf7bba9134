// One row of numbers as a .npy file, and back.

const MAGIC = "\x93NUMPY\x01\x00";
const ALIGNED = 64;

export function npy(values) {
  const described = `{'descr': '<f4', 'fortran_order': False, 'shape': (${values.length},), }`;
  const unpadded = MAGIC.length + 2 + described.length + 1;
  const text = described + " ".repeat((ALIGNED - (unpadded % ALIGNED)) % ALIGNED) + "\n";
  const bytes = new DataView(new ArrayBuffer(MAGIC.length + 2 + text.length + 4 * values.length));
  const write = (place, letters) =>
    [...letters].forEach((letter, i) => bytes.setUint8(place + i, letter.charCodeAt(0)));
  write(0, MAGIC);
  bytes.setUint16(MAGIC.length, text.length, true);
  write(MAGIC.length + 2, text);
  values.forEach((value, i) => bytes.setFloat32(MAGIC.length + 2 + text.length + 4 * i, value, true));
  return bytes.buffer;
}

// The numbers of a .npy file with one row of float32 or float64; null for any other file.
export async function numbersOf(file) {
  const bytes = new DataView(await file.arrayBuffer());
  if (bytes.byteLength < MAGIC.length + 2 || !file.name.toLowerCase().endsWith(".npy")) return null;
  const begin = MAGIC.length + 2;
  const length = bytes.getUint16(MAGIC.length, true);
  if (begin + length > bytes.byteLength) return null;
  const header = new TextDecoder("latin1").decode(new Uint8Array(bytes.buffer, begin, length));
  const [, size, columns] = /'descr': '<f([48])'.*'shape': \((\d+),\)/.exec(header) ?? [];
  if (!size || begin + length + size * columns !== bytes.byteLength) return null;
  const read = size === "4" ? "getFloat32" : "getFloat64";
  return Array.from({ length: Number(columns) }, (_, i) => bytes[read](begin + length + size * i, true));
}
