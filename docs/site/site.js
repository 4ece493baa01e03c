/* What a page of /docs does beyond being read: the reader's own address, copy buttons, the theme, the menu on a phone, search. */

for (const place of document.querySelectorAll('.base')) place.textContent = location.origin;

for (const button of document.querySelectorAll('.copy')) {
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.closest('figure').querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}

document.querySelector('.theme').addEventListener('click', () => {
  const root = document.documentElement;
  const now = root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  root.dataset.theme = now === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem('lodestone-theme', root.dataset.theme);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
});

const menu = document.querySelector('.menu');
const navigation = document.querySelector('#guide-pages');
const showMenu = (open) => {
  menu.setAttribute('aria-expanded', String(open));
  navigation?.classList.toggle('open', open);
};
menu.addEventListener('click', () => showMenu(menu.getAttribute('aria-expanded') !== 'true'));
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || menu.getAttribute('aria-expanded') !== 'true') return;
  showMenu(false);
  menu.focus();
});

const { index: indexUrl, search: libraryUrl } = document.currentScript?.dataset ?? {};
const search = document.querySelector('.search');
if (search && indexUrl) startSearch(search, indexUrl, libraryUrl);

function startSearch(form, url, library) {
  const input = form.querySelector('input');
  const found = form.querySelector('.found');
  const count = form.querySelector('.count');
  let loading;
  /* Loaded with the first letter: most readers of a page do not search. */
  const load = async () => {
    const [{ default: MiniSearch }, answer] = await Promise.all([import(library), fetch(url)]);
    const options = { idField: 'href', fields: ['text', 'page', 'body'], storeFields: ['page', 'text', 'excerpt'] };
    return MiniSearch.loadJSON(await answer.text(), options);
  };
  /* Every word must be there: as written, as the beginning of a longer one, or with a letter or two wrong. */
  const matching = {
    combineWith: 'AND',
    prefix: true,
    fuzzy: (word) => (word.length > 3 ? 0.2 : false),
    boost: { text: 6, page: 2 },
  };
  let asked = '';
  const show = async () => {
    const words = input.value.trim();
    asked = words;
    if (words !== '') loading ??= load();
    const index = await loading;
    // Another letter was typed meanwhile.
    if (asked !== words) return;
    const hits = words === '' ? [] : index.search(words, matching);
    found.replaceChildren(...hits.slice(0, 8).map(hitItem));
    count.textContent = words === '' ? '' : hits.length === 1 ? '1 result' : `${hits.length} results`;
  };
  input.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    const typing = /^(input|textarea|select)$/i.test(document.activeElement?.tagName ?? '');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    showMenu(true);
    input.focus();
  });
}

function hitItem({ id, page, text, excerpt }) {
  const link = document.createElement('a');
  link.href = id;
  link.textContent = text;
  for (const line of [page === text ? '' : page, excerpt]) {
    if (!line) continue;
    const part = document.createElement('span');
    part.textContent = line;
    link.append(part);
  }
  const item = document.createElement('li');
  item.append(link);
  return item;
}
