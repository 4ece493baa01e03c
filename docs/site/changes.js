/* Lists the newest changes of the catalogue, below the heading of their page. */

const heading = document.querySelector('#newest-changes');
if (heading) listChanges(heading);

async function listChanges(after) {
  const place = after.nextElementSibling ?? after;
  try {
    const answer = await fetch('/v1/catalogue/changes?limit=100');
    if (!answer.ok) return;
    const { data, has_more } = await answer.json();
    place.after(data.length === 0 ? note('Nothing has changed since the first start.') : table(data, has_more));
  } catch {
    // The documentation may be served from another host: the link above the list remains.
  }
}

function note(text) {
  const paragraph = document.createElement('p');
  paragraph.textContent = text;
  return paragraph;
}

function table(changes, hasMore) {
  const region = document.createElement('div');
  region.className = 'table';
  region.tabIndex = 0;
  region.setAttribute('role', 'region');
  region.setAttribute('aria-label', 'Changes of the catalogue');
  const list = document.createElement('table');
  const head = list.createTHead().insertRow();
  for (const title of ['When', 'What', 'Field', 'From', 'To', 'Source']) {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = title;
    head.append(cell);
  }
  const body = list.createTBody();
  for (const change of changes) addRow(body.insertRow(), change);
  region.append(list);
  if (!hasMore) return region;
  const all = document.createElement('div');
  all.append(region, note('Older changes: raise offset in the request.'));
  return all;
}

function addRow(row, { at, kind, id, field, from, to, source, as_of }) {
  const when = document.createElement('time');
  when.dateTime = at;
  when.textContent = `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
  row.insertCell().append(when);
  row.insertCell().textContent = `${kind} of ${id}`;
  const [came, went] = [field === 'id' && from === null, field === 'id' && to === null];
  row.insertCell().textContent = came ? 'added' : went ? 'removed' : field;
  row.insertCell().textContent = field === 'id' ? '' : valueText(from);
  row.insertCell().textContent = field === 'id' ? '' : valueText(to);
  row.insertCell().textContent = [source, as_of].filter(Boolean).join(', ');
}

function valueText(value) {
  if (value === null) return 'nothing';
  return Array.isArray(value) ? value.join(', ') : String(value);
}
