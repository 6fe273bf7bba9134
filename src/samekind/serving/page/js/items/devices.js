// The camera or the microphone, if the reader allows it.

export async function opened(wanted, name) {
  const sentence = `The ${name} cannot be used. Allow it for this page, or choose a file.`;
  // Browsers give devices only to pages from this machine, or with https.
  if (!navigator.mediaDevices) throw new Error(sentence);
  try {
    return await navigator.mediaDevices.getUserMedia(wanted);
  } catch {
    throw new Error(sentence);
  }
}

export function closed(stream) {
  for (const track of stream.getTracks()) track.stop();
}
