// Draws the charts of the page: SVG, with a logarithmic or linear x, values under the pointer, lines that can be hidden.
(() => {
  'use strict';
  const COLOURS = ['#2f6fde', '#e0662b', '#2a9d63', '#b0418f', '#8a6d1f', '#1a9bb5', '#c43c4c', '#6b5bd2', '#7a8a2a', '#5f6b76'];
  const DASHES = ['', '6 4', '2 3', '9 3 2 3'];
  const W = 620, H = 300, LEFT = 62, RIGHT = 12, TOP = 12, BOTTOM = 40;
  const charts = JSON.parse(document.getElementById('data').textContent);
  let logarithmic = true;
  const make = (name, attributes, parent, text) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  };
  const short = (value) => {
    if (value === null || value === undefined) return '-';
    const size = Math.abs(value);
    if (size >= 1e6) return +(value / 1e6).toPrecision(4) + 'M';
    if (size >= 1e4) return +(value / 1e3).toPrecision(4) + 'k';
    return String(+value.toPrecision(4));
  };
  const steps = (most) => {
    const rough = most / 5, power = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || 1;
    const marks = [];
    for (let at = 0; at <= most * 1.0001; at += step) marks.push(at);
    return marks;
  };
  const draw = (figure, chart, hidden) => {
    const isLog = logarithmic && chart.can_be_logarithmic;
    const shown = chart.series.map((series, index) => ({ ...series, index })).filter((series) => !hidden.has(series.index));
    const stacked = chart.style === 'stack';
    let base = chart.x.map(() => 0);
    const areas = shown.map((series) => {
      const lower = base;
      if (stacked) base = base.map((value, i) => value + (series.y[i] || 0));
      return { ...series, lower, upper: stacked ? base : series.y };
    });
    const values = areas.flatMap((area) => area.upper.concat(area.high)).filter((value) => value !== null);
    const most = Math.max(...values, 1e-9) * 1.05;
    const xs = chart.x, first = isLog ? Math.log2(Math.max(xs[0], 1e-9)) : 0;
    const last = isLog ? Math.log2(xs[xs.length - 1]) : xs[xs.length - 1];
    const px = (x) => LEFT + (W - LEFT - RIGHT) * (last > first ? ((isLog ? Math.log2(x) : x) - first) / (last - first) : 0.5);
    const py = (y) => H - BOTTOM - (H - TOP - BOTTOM) * y / most;
    const svg = make('svg', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': chart.title });
    for (const mark of steps(most)) {
      make('line', { x1: LEFT, x2: W - RIGHT, y1: py(mark), y2: py(mark), class: 'grid' }, svg);
      make('text', { x: LEFT - 6, y: py(mark) + 4, 'text-anchor': 'end' }, svg, short(mark));
    }
    let free = -1e9;
    for (const x of isLog || xs.length < 12 ? xs : steps(last)) {
      if (px(x) - free < 24) continue;
      free = px(x);
      make('text', { x: free, y: H - BOTTOM + 16, 'text-anchor': 'middle' }, svg, short(x));
    }
    make('text', { x: (W + LEFT) / 2, y: H - 6, 'text-anchor': 'middle' }, svg, chart.x_label + (isLog ? ' (logarithmic)' : ''));
    make('text', { x: 14, y: H / 2 - 12, 'text-anchor': 'middle', transform: `rotate(-90 14 ${H / 2 - 12})` }, svg, chart.y_label);
    const path = (ys) => {
      let text = '', pen = 'M';
      ys.forEach((y, i) => {
        if (y === null || y === undefined) { pen = 'M'; return; }
        text += `${pen}${px(xs[i]).toFixed(1)} ${py(y).toFixed(1)}`;
        pen = 'L';
      });
      return text;
    };
    const between = (low, high) => {
      const there = xs.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null && low[i] !== undefined);
      if (!there.length) return '';
      const go = (list, ys) => list.map((i) => `${px(xs[i]).toFixed(1)} ${py(ys[i]).toFixed(1)}`).join('L');
      return `M${go(there, high)}L${go([...there].reverse(), low)}Z`;
    };
    for (const area of areas) {
      const colour = COLOURS[area.colour % COLOURS.length];
      if (stacked) make('path', { d: between(area.lower, area.upper), fill: colour, 'fill-opacity': 0.75 }, svg);
      else {
        if (area.high.length) make('path', { d: between(area.low, area.high), fill: colour, 'fill-opacity': 0.15 }, svg);
        make('path', { d: path(area.y), fill: 'none', stroke: colour, 'stroke-width': 2, 'stroke-dasharray': DASHES[area.dash % DASHES.length] }, svg);
        if (xs.length < 40) area.y.forEach((y, i) => y !== null && make('circle', { cx: px(xs[i]), cy: py(y), r: 2.6, fill: colour }, svg));
      }
    }
    const line = make('line', { y1: TOP, y2: H - BOTTOM, class: 'hover', visibility: 'hidden' }, svg);
    const tip = document.createElement('div');
    tip.className = 'tip';
    const over = (event) => {
      const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) * W / box.width;
      let near = 0;
      xs.forEach((x, i) => { if (Math.abs(px(x) - at) < Math.abs(px(xs[near]) - at)) near = i; });
      line.setAttribute('x1', px(xs[near]));
      line.setAttribute('x2', px(xs[near]));
      line.setAttribute('visibility', 'visible');
      tip.replaceChildren();
      const put = (text, bold) => {
        const row = document.createElement('div');
        row.textContent = text;
        if (bold) row.style.fontWeight = 600;
        tip.appendChild(row);
      };
      put(`${short(xs[near])} ${chart.x_label}`, true);
      [...areas].sort((a, b) => (b.y[near] || 0) - (a.y[near] || 0)).forEach((area) => put(`${area.name}: ${short(area.y[near])}`));
      tip.style.display = 'block';
      tip.style.left = Math.min(px(xs[near]) * box.width / W + 12, box.width - tip.offsetWidth) + 'px';
      tip.style.top = '3rem';
    };
    svg.addEventListener('pointermove', over);
    svg.addEventListener('pointerleave', () => { tip.style.display = 'none'; line.setAttribute('visibility', 'hidden'); });
    const caption = document.createElement('figcaption');
    caption.textContent = chart.title;
    const csv = [[chart.x_label, ...chart.series.map((s) => s.name)], ...xs.map((x, i) => [x, ...chart.series.map((s) => s.y[i] ?? '')])]
      .map((row) => row.map((cell) => /[",]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell).join(',')).join('\n');
    const link = document.createElement('a');
    link.textContent = 'CSV';
    link.download = chart.title.replace(/\W+/g, '-') + '.csv';
    link.href = 'data:text/csv;charset=utf-8,' + encodeURIComponent(csv);
    caption.appendChild(link);
    const legend = document.createElement('div');
    legend.className = 'legend';
    chart.series.forEach((series, index) => {
      const item = document.createElement('span'), colour = COLOURS[series.colour % COLOURS.length];
      const key = make('svg', { viewBox: '0 0 24 12' }, item);
      if (stacked) make('rect', { width: 24, height: 12, rx: 2, fill: colour }, key);
      else make('path', { d: 'M0 6H24', stroke: colour, 'stroke-width': 3, 'stroke-dasharray': DASHES[series.dash % DASHES.length] }, key);
      item.append(series.name);
      item.classList.toggle('off', hidden.has(index));
      item.onclick = () => { hidden.has(index) ? hidden.delete(index) : hidden.add(index); draw(figure, chart, hidden); };
      legend.appendChild(item);
    });
    const details = document.createElement('details'), summary = document.createElement('summary');
    const table = document.createElement('table');
    summary.textContent = 'Table';
    details.open = !!figure.querySelector('details[open]');
    [[chart.x_label, ...chart.series.map((s) => s.name)], ...xs.map((x, i) => [x, ...chart.series.map((s) => short(s.y[i]))])]
      .forEach((row, i) => {
        const line = table.insertRow();
        row.forEach((cell) => {
          const element = document.createElement(i ? 'td' : 'th');
          element.textContent = cell;
          line.appendChild(element);
        });
      });
    const scroll = document.createElement('div');
    scroll.className = 'scroll';
    scroll.appendChild(table);
    details.append(summary, scroll);
    figure.replaceChildren(caption, svg, legend, details, tip);
  };
  const figures = [...document.querySelectorAll('.chart')].map((figure) => [figure, charts[+figure.dataset.chart], new Set()]);
  const all = () => figures.forEach(([figure, chart, hidden]) => draw(figure, chart, hidden));
  document.getElementById('scale').onclick = (event) => {
    logarithmic = !logarithmic;
    event.target.textContent = logarithmic ? 'linear clients' : 'logarithmic clients';
    all();
  };
  document.getElementById('theme').onclick = () => {
    const root = document.documentElement;
    const isDark = root.classList.contains('dark') || (!root.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches);
    root.classList.remove('dark', 'light');
    root.classList.add(isDark ? 'light' : 'dark');
  };
  all();
})();
