/**
 * Elementary functions from additions, multiplications, divisions, square roots and integer operations only. IEEE 754 fixes
 * the result of each of those, so every machine and every JavaScript engine computes the same bits; the language leaves
 * the accuracy of its own exponentials and logarithms open (ECMA-262, "Function Properties of the Math Object").
 */

const LN2_HI = 0.6931471803691238; // ln 2 to 33 bits: products with an exponent are exact
const LN2_LO = 1.9082149292705877e-10;
const LOG2_E = Math.LOG2E;
const SQRT_2 = Math.SQRT2;
const TWO_54 = 18014398509481984;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer); // little-endian, as WebAssembly memory is

/** 2^exponent, for exponents of normal numbers. */
function powerOfTwo(exponent: number): number {
  words[0] = 0;
  words[1] = (exponent + 1023) << 20;
  return double[0]!;
}

/** e^x; relative error below 1e-15. Cody and Waite's reduction to |r| <= ln 2 / 2, then the Taylor polynomial. */
export function exp(x: number): number {
  if (!(x <= 709.782712893384)) return x > 0 ? Number.POSITIVE_INFINITY : x;
  if (x < -745.2) return 0;
  const k = Math.floor(x * LOG2_E + 0.5);
  const r = x - k * LN2_HI - k * LN2_LO;
  let sum = 1 / 6227020800;
  sum = sum * r + 1 / 479001600;
  sum = sum * r + 1 / 39916800;
  sum = sum * r + 1 / 3628800;
  sum = sum * r + 1 / 362880;
  sum = sum * r + 1 / 40320;
  sum = sum * r + 1 / 5040;
  sum = sum * r + 1 / 720;
  sum = sum * r + 1 / 120;
  sum = sum * r + 1 / 24;
  sum = sum * r + 1 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1;
  sum = sum * r + 1;
  if (k < -1021) return sum * powerOfTwo(k + 60) * powerOfTwo(-60);
  if (k > 1023) return sum * powerOfTwo(k - 1) * 2;
  return sum * powerOfTwo(k);
}

/** Natural logarithm; relative error below 1e-15 away from 1. The series of the inverse hyperbolic tangent. */
export function log(x: number): number {
  if (!(x > 0)) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === Number.POSITIVE_INFINITY) return x;
  let exponent = -1023;
  double[0] = x;
  if (words[1]! < 0x00100000) {
    double[0] = x * TWO_54;
    exponent -= 54;
  }
  exponent += words[1]! >>> 20;
  words[1] = (words[1]! & 0x000fffff) | 0x3ff00000;
  let mantissa = double[0]!;
  if (mantissa > SQRT_2) {
    mantissa *= 0.5;
    exponent += 1;
  }
  const s = (mantissa - 1) / (mantissa + 1);
  const z = s * s;
  let sum = 1 / 23;
  sum = sum * z + 1 / 21;
  sum = sum * z + 1 / 19;
  sum = sum * z + 1 / 17;
  sum = sum * z + 1 / 15;
  sum = sum * z + 1 / 13;
  sum = sum * z + 1 / 11;
  sum = sum * z + 1 / 9;
  sum = sum * z + 1 / 7;
  sum = sum * z + 1 / 5;
  sum = sum * z + 1 / 3;
  return exponent * LN2_HI + (2 * s + 2 * s * z * sum + exponent * LN2_LO);
}

/** (e^t - 1) / t, also where t is small. */
export function expm1Ratio(t: number): number {
  if (t > 0.1 || t < -0.1) return (exp(t) - 1) / t;
  let sum = 1;
  for (let n = 11; n >= 2; n--) sum = 1 + (sum * t) / n;
  return sum;
}

/** ln(1 + t) / t, also where t is small; t > -1. */
export function log1pRatio(t: number): number {
  if (t > 0.1 || t < -0.1) return log(1 + t) / t;
  const s = t / (2 + t);
  const z = s * s;
  let sum = 0;
  for (let n = 15; n >= 1; n -= 2) sum = sum * z + 1 / n;
  return (2 * sum) / (2 + t);
}

function rational(x: number, over: readonly number[], under: readonly number[]): number {
  let a = 0;
  let b = 0;
  for (let i = over.length - 1; i >= 0; i--) {
    a = a * x + over[i]!;
    b = b * x + under[i]!;
  }
  return a / b;
}

// Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37 (1988): PPND16.
const CENTRE_OVER = [
  3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
  67265.7709270087, 33430.57558358813, 2509.0809287301227,
];
const CENTRE_UNDER = [
  1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
  28729.085735721943, 5226.495278852854,
];
const MIDDLE_OVER = [
  1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
  0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
];
const MIDDLE_UNDER = [
  1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
  0.0005475938084995345, 1.0507500716444169e-9,
];
const TAIL_OVER = [
  6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
  0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
];
const TAIL_UNDER = [
  1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
  1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15,
];

/** The standard normal's quantile at p, 0 < p < 1. */
export function inverseNormal(p: number): number {
  const q = p - 0.5;
  if (q <= 0.425 && q >= -0.425) return q * rational(0.180625 - q * q, CENTRE_OVER, CENTRE_UNDER);
  const r = Math.sqrt(-log(q < 0 ? p : 1 - p));
  const z = r <= 5 ? rational(r - 1.6, MIDDLE_OVER, MIDDLE_UNDER) : rational(r - 5, TAIL_OVER, TAIL_UNDER);
  return q < 0 ? -z : z;
}
