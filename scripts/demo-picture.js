// Draws docs/demo.svg from a demo's document: node bin/os2g.js demo --json | node scripts/demo-picture.js > docs/demo.svg
import { readFileSync } from 'node:fs';

const { pipelines, step_time_s, batch_samples } = JSON.parse(readFileSync(0, 'utf8'));
const [left, width, row, top] = [110, 480, 34, 44];

function bar({ policy, gpu_busy_share, samples_per_s }, i) {
  const y = top + i * row;
  const busy = Math.round(gpu_busy_share * width);
  const figures = `${(gpu_busy_share * 100).toFixed(0)} %, ${Math.round(samples_per_s).toLocaleString('en-US')} samples/s`;
  const inside = gpu_busy_share > 0.5;
  return `  <text x="${left - 10}" y="${y + 15}" text-anchor="end">${policy}</text>
  <rect x="${left}" y="${y}" width="${width}" height="22" fill="#e5e7eb"/>
  <rect x="${left}" y="${y}" width="${busy}" height="22" fill="#15803d"/>
  <text x="${left + (inside ? 8 : busy + 8)}" y="${y + 15}" fill="${inside ? '#fff' : '#111'}">${figures}</text>`;
}

const height = top + pipelines.length * row + 6;
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 610 ${height}" font-family="system-ui, sans-serif" font-size="13">
  <title>Part of the time in which the emulated GPU computes, for each policy of the demo</title>
  <rect width="610" height="${height}" fill="#fff"/>
  <text x="${left}" y="24">GPU busy (green) and waiting (grey): a step of ${step_time_s * 1000} ms for each ${batch_samples} samples</text>
${pipelines.map(bar).join('\n')}
</svg>
`);
