// The points of the map, as /map answers them, in the square from -1 to 1.

// The place of "no label" among the labels.
export const NONE = -1;

export class Points {
  constructor({ ids, x, y, label, labels, doubt, items }) {
    Object.assign(this, {
      ids,
      items,
      labels,
      doubt: doubt?.some((value) => value !== null) ? doubt.map((value) => value ?? 0) : null,
    });
    this.label = label.map((value) => value ?? NONE);
    [this.x, this.y] = squared([x, y]);
  }

  get length() {
    return this.ids.length;
  }

  name(place) {
    return this.labels[this.label[place]] ?? "no label";
  }

  // [label, how many], the largest class first.
  counts() {
    const counts = new Map();
    for (const label of this.label) counts.set(label, (counts.get(label) ?? 0) + 1);
    return [...counts].sort(([, first], [, second]) => second - first);
  }

  // The places of a class.
  of(label) {
    return this.places((place) => this.label[place] === label);
  }

  // Items of which most neighbours have another label, the worst first.
  mistakes(least = 0.5) {
    return this.doubt
      ? this.places((place) => this.doubt[place] > least).sort(
          (first, second) => this.doubt[second] - this.doubt[first],
        )
      : [];
  }

  places(holds) {
    const places = [];
    for (let place = 0; place < this.length; place++) if (holds(place)) places.push(place);
    return places;
  }
}

// Both axes by the same factor: distances keep their meaning.
function squared(columns) {
  const ranges = columns.map((column) =>
    column.reduce(
      ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
      [Infinity, -Infinity],
    ),
  );
  const half = Math.max(...ranges.map(([low, high]) => high - low)) / 2 || 1;
  return columns.map((column, axis) =>
    column.map((value) => (0.95 * (value - (ranges[axis][0] + ranges[axis][1]) / 2)) / half),
  );
}
