import { useEffect, useRef } from 'preact/hooks';
import { html } from './ui.js';

let library;

/** The library is loaded with the first chart. */
async function load() {
  library ??= (async () => {
    const sheet = document.createElement('link');
    sheet.rel = 'stylesheet';
    sheet.href = new URL('uplot.css', import.meta.url).href;
    document.head.append(sheet);
    return (await import('uplot')).default;
  })();
  return library;
}

const SHORTEST_SECONDS = 60;
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
const time = (seconds) => TIME.format(new Date(seconds * 1000));

const COLORS = ['--series-1', '--series-2', '--series-3', '--series-4'];
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * A chart over time.
 * @param times seconds
 * @param series [{label, values}]
 * @param format turns a value into text
 * @param least the smallest value at the top of the chart
 */
export function Chart({ title, times, series, format = (v) => String(v), height = 150, least = 1 }) {
  const box = useRef(null);
  const plot = useRef(null);
  const data = [times, ...series.map((one) => one.values)];
  const latest = series.map((one) => {
    const value = one.values.at(-1);
    return `${one.label} ${value === undefined || value === null ? 'unknown' : format(value)}`;
  }).join(', ');
  useEffect(() => {
    let gone = false;
    let observer;
    // Each chart in a task of its own, so that a page with several is shown and answers before all are drawn.
    load().then((UPlot) => setTimeout(() => {
      if (gone || !box.current) return;
      const axis = { stroke: color('--dim'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
      plot.current = new UPlot({
        width: box.current.clientWidth,
        height,
        cursor: { y: false, drag: { x: false, y: false } },
        legend: { show: false },
        scales: { x: { range: (self, min, max) => [Math.min(min, max - SHORTEST_SECONDS), max] }, y: { range: (self, min, max) => [0, Math.max(max ?? 0, least) * 1.1] } },
        axes: [{ ...axis, values: (self, ticks) => ticks.map(time) }, { ...axis, size: 58, values: (self, ticks) => ticks.map(format) }],
        series: [{}, ...series.map((one, index) => ({
          label: one.label, stroke: color(COLORS[index]), width: 1.5, points: { show: false },
        }))],
      }, data, box.current);
      observer = new ResizeObserver(() => plot.current?.setSize({ width: box.current?.clientWidth ?? 0, height }));
      observer.observe(box.current);
    }));
    return () => {
      gone = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [series.length]);
  useEffect(() => { plot.current?.setData(data); }, [times]);
  return html`
    <figure class="chart">
      <figcaption><span>${title}</span>
        <span class="dim">${series.map((one, index) => html`<span key=${one.label} class=${`series s${index + 1}`}>${one.label}</span>`)}</span></figcaption>
      <div ref=${box} role="img" aria-label=${`${title}: ${latest}`} style=${{ minHeight: `${height}px` }}></div>
    </figure>`;
}
