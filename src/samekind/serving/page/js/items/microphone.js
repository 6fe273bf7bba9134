// A sound from the microphone, as a WAV file.

import { button, element, replace } from "../dom.js";
import { closed, opened } from "./devices.js";
import { wav } from "./wav.js";

const LONGEST = 30; // seconds, if the server sets no limit
const REFRESH = 100; // milliseconds between two looks at the clock

export async function recordSound(place, info) {
  const stream = await opened({ audio: { echoCancellation: false, noiseSuppression: false } }, "microphone");
  const context = new AudioContext();
  try {
    await context.audioWorklet.addModule(new URL("./recorder.js", import.meta.url));
    return await recorded(place, context, stream, Math.min(LONGEST, info.limits?.seconds ?? LONGEST));
  } finally {
    closed(stream);
    await context.close();
  }
}

function recorded(place, context, stream, longest) {
  const blocks = [];
  let loudness = 0;
  const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
  node.port.onmessage = ({ data }) => {
    blocks.push(data);
    loudness = Math.max(...data.map(Math.abs));
  };
  context.createMediaStreamSource(stream).connect(node);
  const seconds = () => blocks.reduce((sum, block) => sum + block.length, 0) / context.sampleRate;
  return new Promise((resolve) => {
    const clock = element("output", { class: "clock" }, "0.0 s");
    const meter = element("meter", { min: 0, max: 1, "aria-label": "Loudness" });
    const timer = setInterval(() => {
      clock.textContent = `${seconds().toFixed(1)} s`;
      meter.value = loudness;
      if (seconds() >= longest) end(true);
    }, REFRESH);
    const end = (keep) => {
      clearInterval(timer);
      resolve(
        keep && blocks.length
          ? new File([wav(blocks, context.sampleRate)], "recording.wav", { type: "audio/wav" })
          : null,
      );
    };
    const stop = button("Stop and use", () => end(true), { class: "button primary" });
    replace(
      place,
      element("p", { class: "recording row" }, "Recording", clock, meter),
      element(
        "div",
        { class: "row" },
        stop,
        button("Cancel", () => end(false)),
      ),
    );
    stop.focus();
  });
}
