import { STALL_NAMES } from '../run.js';
import type { PipelineName } from '../scenario/types.js';

/** Line and bar of each pipeline: a colour on light ground, one on dark ground (3:1 against it at least), and a dash pattern. */
export const PIPELINE_LOOKS: Readonly<Record<PipelineName, { light: string; dark: string; dash: number[] }>> =
  {
    s3fs: { light: '#b3400a', dark: '#ff8f57', dash: [2, 3] },
    s3connector: { light: '#9a6700', dark: '#e8b33a', dash: [8, 4] },
    'naive-offload': { light: '#a0457e', dark: '#e39ac8', dash: [8, 3, 2, 3] },
    relay: { light: '#0067a3', dark: '#5ab4f0', dash: [12, 3] },
    os2g: { light: '#00734f', dark: '#2fc99a', dash: [] },
    'os2g-host': { light: '#4b4b4b', dark: '#c8c8c8', dash: [4, 2] },
  };

/** Okabe and Ito's palette, which people with any colour vision tell apart; compute is grey. */
const CAUSE_COLORS: Readonly<Record<string, string>> = {
  compute: '#9aa5b1',
  start: '#6a5aa8',
  store: '#0072b2',
  throttle: '#d55e00',
  network: '#56b4e9',
  client_cpu: '#e69f00',
  host_work: '#8a5a2b',
  memory: '#cc79a7',
  transfer: '#009e73',
  barrier: '#f0e442',
};

const looks = Object.entries(PIPELINE_LOOKS);
const variables = (theme: 'light' | 'dark'): string =>
  looks.map(([name, look]) => `--p-${name}:${look[theme]};`).join('');

const LIGHT = `--ground:#fff;--panel:#f6f7f9;--text:#1a1d21;--soft:#555d66;--line:#c9ced4;--grid:#e4e7eb;${variables('light')}`;
const DARK = `--ground:#15181c;--panel:#1d2126;--text:#e8eaed;--soft:#aab2bb;--line:#434a52;--grid:#2b3036;${variables('dark')}`;

export const STYLE = `
:root{color-scheme:light dark;${LIGHT}}
@media (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:1.5rem 1.25rem 3rem;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,"Segoe UI","DejaVu Sans",sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2.2rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
p{margin:.4rem 0 .8rem;max-width:52rem}ul{margin:.4rem 0 .8rem;padding-left:1.3rem}.soft{color:var(--soft)}
code{font:.92em ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
.lead{font-size:1.05rem}
figure{margin:1rem 0}figcaption{margin-bottom:.4rem;color:var(--soft)}figcaption b{color:var(--text)}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(26rem,1fr));gap:1rem}.panel{margin:0;padding:.8rem;background:var(--panel);border-radius:6px}
.row{display:grid;grid-template-columns:7.5rem 1fr 5.2rem;align-items:center;gap:.6rem;margin:.28rem 0}
.name{overflow-wrap:anywhere}.value{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.track{position:relative;display:flex;height:1.1rem}.bar{display:block;height:100%;border-radius:0 2px 2px 0}
.mark{position:absolute;top:-.15rem;bottom:-.15rem;width:2px;margin-left:-1px;background:var(--text)}
.part{display:block;height:100%;border-right:1px solid var(--ground)}.stack .row{grid-template-columns:7.5rem 1fr 5.2rem}
.axis{border-top:1px solid var(--line);color:var(--soft);font-size:.85rem}.axis span{position:absolute;top:.15rem;transform:translateX(-50%)}.axis span:first-child{transform:none}.axis span:last-child{transform:translateX(-100%)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.2rem 0 .5rem}.key{display:inline-block;width:.85rem;height:.85rem;margin-right:.35rem;vertical-align:-.1rem;border:1px solid rgba(128,128,128,.6)}
.plot{width:100%;min-height:250px}.plot .u-legend{font-size:.85rem;text-align:left}.plot .u-legend th,.plot .u-legend td{border:0;padding:0 .25rem;background:none;position:static;white-space:nowrap}.u-hz .u-cursor-x,.u-hz .u-cursor-y{border-color:var(--soft)}
.scroll{overflow-x:auto;margin-top:.9rem}table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
.scroll>table{min-width:40%}caption{text-align:left;color:var(--soft);padding:.2rem 0}
.scroll th,.scroll td{padding:.22rem .5rem;border-bottom:1px solid var(--grid);text-align:right;vertical-align:top;white-space:nowrap}.scroll thead th{white-space:normal}
.scroll thead th{border-bottom:1px solid var(--line);vertical-align:bottom}.scroll th:first-child{text-align:left;font-weight:600;padding-left:0;white-space:nowrap}
.words .scroll td,.words .scroll thead th,.steps .scroll :is(td,th):nth-child(2){text-align:left}.words .scroll td{white-space:normal}.words .scroll th:first-child{font-weight:400}.words .scroll td:nth-child(2){min-width:9rem}
details{margin:.3rem 0}summary{cursor:pointer;color:var(--soft)}
.basis{padding:0 .4rem;border-radius:3px;border:1px solid var(--line);white-space:nowrap}.b-measured{border-width:2px;font-weight:600}.b-cited{background:var(--panel)}.b-assumed{border-style:dashed}.b-scenario{font-style:italic}
${looks.map(([name]) => `.p-${name}{background:var(--p-${name})}`).join('')}
${['compute', ...STALL_NAMES].map((name) => `.c-${name}{background:${CAUSE_COLORS[name]}}`).join('')}
@media (max-width:32rem){.row,.stack .row{grid-template-columns:6rem 1fr 4.5rem}.panels{grid-template-columns:1fr}}
@media print{:root{color-scheme:light;${LIGHT}}body{max-width:none;padding:0;font-size:11px}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}.panels{grid-template-columns:1fr 1fr}figure,tr,.panel,.plot{break-inside:avoid}.chart{break-inside:auto}.words .scroll th:first-child{white-space:normal;min-width:15em}h2,figcaption,caption{break-after:avoid}.scroll{overflow:visible}table{font-size:9px}.scroll th,.scroll td{padding:.15rem .3rem;overflow-wrap:anywhere}}
`;
