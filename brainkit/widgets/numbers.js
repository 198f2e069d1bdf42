// The figures of the calibrator, as brainkit/widgets/numbers.py computes them too.
// A question is answered when its score reaches the threshold. Group 0 holds the answerable questions.

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

// Logarithm of the gamma function for x >= 1 (Lanczos 1964, g = 7, n = 9).
function logGamma(x) {
  let sum = LANCZOS[0];
  for (let i = 1; i < 9; i++) sum += LANCZOS[i] / (x - 1 + i);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// Regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22, modified Lentz).
function incompleteBeta(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  const inside = (value) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / inside(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m < 5000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / inside(1 + even * d);
    c = inside(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / inside(1 + odd * d);
    c = inside(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * result;
}

// x with I_x(a, b) = p, by halving: 60 steps reach the last digit.
function inverseBeta(a, b, p) {
  let [low, high] = [0, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (incompleteBeta(middle, a, b) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// Exact 95 % interval of a share.
function clopperPearson(x, n) {
  return [x === 0 ? 0 : inverseBeta(x, n - x + 1, 0.025), x === n ? 1 : inverseBeta(x + 1, n - x, 0.975)];
}

// First place in an ascending array whose value is not below `value`.
function firstAtLeast(ascending, value) {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A sample: scores and groups of all questions, and the same sorted for fast counting.
function makeSample(scores, groups, names) {
  const byGroup = names.map((_, group) => Float64Array.from(scores.filter((_, i) => groups[i] === group)).sort());
  const order = Uint32Array.from(scores.keys()).sort((a, b) => scores[a] - scores[b] || a - b);
  return { scores, groups, names, byGroup, order, ascending: Float64Array.from(order, (i) => scores[i]) };
}

// By group: how many questions, how many of them are answered, and the interval of that share.
function tally(sample, threshold) {
  return sample.names.map((name, group) => {
    const ascending = sample.byGroup[group];
    const n = ascending.length;
    const answered = n - firstAtLeast(ascending, threshold);
    const [low, high] = clopperPearson(answered, n);
    return { name, n, answered, low, high };
  });
}

// Counts by group in equal bins from the lowest to the highest score.
function histogram(sample, bins) {
  const { ascending, scores, groups, names } = sample;
  const low = ascending.length ? ascending[0] : 0;
  const high = ascending.length ? ascending[ascending.length - 1] : 1;
  const span = high - low || 1;
  const counts = names.map(() => new Array(bins).fill(0));
  scores.forEach((score, i) => counts[groups[i]][Math.min(bins - 1, Math.floor(((score - low) / span) * bins))]++);
  return { low, high: low + span, counts };
}

// At every score as threshold, from the highest down, after a first point where nothing is answered: number of
// answerable and of unanswerable questions that are answered.
function sweep(sample) {
  const points = [[0, 0]];
  let [yes, no] = [0, 0];
  for (let i = sample.order.length - 1; i >= 0; i--) {
    if (sample.groups[sample.order[i]] === 0) yes++;
    else no++;
    if (i === 0 || sample.ascending[i - 1] !== sample.ascending[i]) points.push([yes, no]);
  }
  return points;
}

// Receiver operating characteristic: [false answers, answered] as shares, and the area below; null without both kinds.
function roc(sample) {
  const counts = sweep(sample);
  const [yes, no] = counts[counts.length - 1];
  if (!yes || !no) return { points: [], area: null };
  const points = counts.map(([y, n]) => [n / no, y / yes]);
  let area = 0;
  for (let i = 1; i < points.length; i++) area += ((points[i][0] - points[i - 1][0]) * (points[i][1] + points[i - 1][1])) / 2;
  return { points, area };
}

// [coverage, risk]: share of all questions that are answered, and of those the share that should not be; and the mean
// risk over all coverages; null without questions.
function riskCoverage(sample) {
  const total = sample.order.length;
  if (!total) return { points: [], area: null };
  const counts = sweep(sample).slice(1);
  const points = counts.map(([y, n]) => [(y + n) / total, n / (y + n)]);
  let [area, before] = [0, 0];
  for (const [coverage, risk] of points) {
    area += risk * (coverage - before);
    before = coverage;
  }
  return { points, area };
}

// Questions whose decision differs between two thresholds, those nearest to the second first.
function flips(sample, from, to) {
  const [a, b] = [firstAtLeast(sample.ascending, from), firstAtLeast(sample.ascending, to)];
  const found = [...sample.order.subarray(Math.min(a, b), Math.max(a, b))];
  return b > a ? found.reverse() : found;
}

export const numbers = { clopperPearson, flips, histogram, makeSample, riskCoverage, roc, tally };
