/** Numbers as people read them: `1,234,567`, `12.3 MB/s`, `87.5 %`, `1 min 5 s`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** `1 batch`, `2 batches`: a count with its noun. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** Three significant digits, or whole where it is large. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 100) return formatCount(value);
  return String(Number(value.toPrecision(3)));
}

const DECIMAL = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

function scaled(bytes: number, step: number, units: readonly string[]): string {
  let [value, unit] = [bytes, 0];
  while (value >= step && unit < units.length - 1) {
    value /= step;
    unit++;
  }
  return `${formatFigure(value)} ${units[unit]}`;
}

/** Decimal units, as rates and data sets are told: `12.3 MB`. */
export function formatDecimalBytes(bytes: number): string {
  return scaled(bytes, 1000, DECIMAL);
}

/** Binary units, as memory is told: `1.5 GiB`. */
export function formatMemory(bytes: number): string {
  return scaled(bytes, 1024, BINARY);
}

function oneDecimal(value: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

export function formatShare(share: number): string {
  return Number.isFinite(share) ? `${oneDecimal(share * 100)} %` : '-';
}

/** A relative change: `+12.3 %`, `-4.0 %`. */
export function formatChange(change: number): string {
  if (!Number.isFinite(change)) return '-';
  const text = oneDecimal(change * 100);
  if (/^-?0\.0$/.test(text)) return '0.0 %';
  return `${change > 0 ? '+' : ''}${text} %`;
}

export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '-';
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return seconds >= 10 ? `${seconds.toFixed(1)} s` : `${Number(seconds.toPrecision(2))} s`;
}
