/** What the server serves and the clients read: whole objects of one size. */
export const OBJECTS = 20_000;
export const BUCKET = 'bench';
export const REGION = 'us-east-1';
export const ETAG = '"9a0364b9e99bb480dd25e1f0284c8555"';

export const keyOf = (row: number): string => `train/class-${row % 100}/${String(row).padStart(8, '0')}.jpg`;
