// One picture from the camera.

import { button, element, replace } from "../dom.js";
import { closed, opened } from "./devices.js";

export async function takePicture(place) {
  const stream = await opened({ video: { facingMode: "environment" } }, "camera");
  const video = element("video", { autoplay: true, playsinline: true, "aria-label": "What the camera sees" });
  video.muted = true;
  video.srcObject = stream;
  try {
    return await new Promise((resolve) => {
      const shoot = button("Take the picture", () => still(video).then(resolve), { class: "button primary" });
      replace(
        place,
        video,
        element(
          "div",
          { class: "row" },
          shoot,
          button("Cancel", () => resolve(null)),
        ),
      );
      shoot.focus();
    });
  } finally {
    closed(stream);
  }
}

function still(video) {
  const canvas = element("canvas", { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext("2d").drawImage(video, 0, 0);
  return new Promise((resolve) =>
    canvas.toBlob((blob) => resolve(new File([blob], "camera.png", { type: "image/png" }))),
  );
}
