// Samples between -1 and 1 as the bytes of a WAV file: one channel, 16 bits.

const HEADER = 44;

export function wav(blocks, rate) {
  const samples = blocks.reduce((sum, block) => sum + block.length, 0);
  const bytes = new DataView(new ArrayBuffer(HEADER + 2 * samples));
  header(bytes, samples, rate);
  let place = HEADER;
  for (const block of blocks) {
    for (const sample of block) {
      bytes.setInt16(place, Math.round(32767 * Math.max(-1, Math.min(1, sample))), true);
      place += 2;
    }
  }
  return bytes.buffer;
}

function header(bytes, samples, rate) {
  const text = (place, letters) =>
    [...letters].forEach((letter, i) => bytes.setUint8(place + i, letter.charCodeAt(0)));
  text(0, "RIFF");
  bytes.setUint32(4, HEADER - 8 + 2 * samples, true);
  text(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true); // bytes of the description that follows
  bytes.setUint16(20, 1, true); // plain numbers
  bytes.setUint16(22, 1, true); // channels
  bytes.setUint32(24, rate, true);
  bytes.setUint32(28, 2 * rate, true); // bytes a second
  bytes.setUint16(32, 2, true); // bytes a sample
  bytes.setUint16(34, 16, true); // bits a sample
  text(36, "data");
  bytes.setUint32(40, 2 * samples, true);
}
