// The errors at every threshold, as /tradeoff answers them, in rising order of the threshold.

export class Rates {
  constructor({ thresholds, false_accepts: accepts, false_rejects: rejects }) {
    this.rows = thresholds
      .map((threshold, i) => ({ threshold, accepts: accepts[i], rejects: rejects[i] }))
      .filter(({ threshold }) => Number.isFinite(threshold))
      .sort((first, second) => first.threshold - second.threshold);
  }

  get lowest() {
    return this.rows[0].threshold;
  }

  get highest() {
    return this.rows.at(-1).threshold;
  }

  // A score at the threshold is accepted, so between two thresholds the rates of the higher one hold.
  at(threshold) {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle].threshold < threshold) low = middle + 1;
      else high = middle;
    }
    return this.rows[low] ?? { threshold, accepts: 0, rejects: 1 };
  }

  // The lowest threshold with at most this share of false accepts.
  forAccepts(share) {
    return this.rows.find(({ accepts }) => accepts <= share) ?? this.rows.at(-1);
  }

  // Where both errors are nearest to each other.
  get equal() {
    const gap = (row) => Math.abs(row.accepts - row.rejects);
    return this.rows.reduce((best, row) => (gap(row) < gap(best) ? row : best));
  }
}
