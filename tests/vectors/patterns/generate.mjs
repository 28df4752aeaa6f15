// Records how the JavaScript engine of Node reads patterns with the flag `u`.
//
// `node generate.mjs` writes classes.json and searches.json next to this file.
// `node generate.mjs --check` compares them with the engine and changes nothing.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isCheck = process.argv.includes('--check');
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

// Writes a file, or compares it with its recorded form. The properties of code
// points are compared only by an engine with the same version of Unicode.
function record(name, found) {
  const path = here(`./${name}.json`);
  if (!isCheck) {
    writeFileSync(path, `${JSON.stringify(found, null, 1)}\n`);
    return;
  }
  const recorded = JSON.parse(readFileSync(path, 'utf8'));
  const isOther = recorded.unicode !== found.unicode;
  for (const [group, value] of Object.entries(recorded)) {
    if (isOther && ['unicode', 'assigned', 'properties'].includes(group)) continue;
    for (const [key, expected] of Object.entries(value)) {
      const other = JSON.stringify(found[group][key]);
      if (other === JSON.stringify(expected)) continue;
      console.error(`${name}: ${group}, ${key}: the engine says ${other}`);
      process.exitCode = 1;
    }
  }
}

// The code points that an expression matches, as a list of ranges.
function ranges(expression, flags) {
  const regex = new RegExp(`^(?:${expression})$`, flags);
  const found = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    if (!regex.test(String.fromCodePoint(code))) continue;
    const last = found.at(-1);
    if (last && (last[1] === code - 1 || (last[1] === 0xd7ff && code === 0xe000))) last[1] = code;
    else found.push([code, code]);
  }
  return found.map((range) => range.map((code) => code.toString(16)).join('-')).join(' ');
}

const classes = [
  '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '.', '[^]', '[]', '[\\d]', '[^\\d]', '[^\\D]', '[\\w.-]',
  '[^\\w]', '[^\\W]', '[\\s\\d]', '[^\\s]', '[^\\S\\n]', '[\\W\\d]', '[^\\w\\s]', '[\\b]', '[-a]', '[a-]',
  '[+--]', '[[]', '[\\]]', '[^^]', '[\\^a]', '\\0', '\\cA', '\\cz', '\\x41', '\\u00e9', '\\u{1F600}', '\\uD83D\\uDE00',
  '[\\uD83D\\uDE00]', '[\\uD800-\\uDFFF]', '[^\\uD800-\\uDFFF]', '[\\u0000-\\uFFFF]', '[\\uD000-\\uE000]',
  '[\\uD7FF-\\uD800]', '[\\uDFFF-\\uE000]', '\\uD800', '[\\u{10000}-\\u{10FFFF}]', '[\\t-\\r]', '\\/', '\\.', '[.]', '[$]',
];
const folded = [
  'k', 's', 'K', 'ß', '\\u1e9e', 'İ', 'ı', 'σ', 'ǆ', 'µ', '\\u0345', '[a-z]', '[^k]', '[^a-z]', '\\w', '\\W', '\\d',
  '[\\w]', '[^\\W]', '.', '[ſ]', '[\\u0390-\\u03cf]', '[\\u{10400}-\\u{1044f}]',
];
const properties = [
  'L', 'Lu', 'Ll', 'Lt', 'Letter', 'M', 'Combining_Mark', 'Mn', 'N', 'Nd', 'Decimal_Number', 'digit', 'P', 'Pc', 'punct',
  'S', 'Sc', 'Z', 'Zs', 'Zl', 'C', 'Cc', 'cntrl', 'Cf', 'Co', 'LC', 'gc=Lo', 'General_Category=Symbol', 'Any', 'ASCII',
  'Alphabetic', 'Alpha', 'Uppercase', 'Lower', 'White_Space', 'space', 'Emoji', 'Emoji_Presentation', 'ID_Start',
  'XIDC', 'Ideographic', 'Hex_Digit', 'Cased', 'Math', 'Dash', 'Script=Latin', 'Script=Latn', 'sc=Greek', 'sc=Cyrl',
  'Script_Extensions=Greek', 'scx=Hira', 'Script=Zyyy', 'sc=Han', 'scx=Devanagari', 'sc=Nkoo', 'sc=SignWriting',
];

// Every name that the crate accepts is a name here.
const names = readFileSync(here('../../../crates/stockade-validation/src/pattern/property_names.rs'), 'utf8');
for (const [, table, list] of names.matchAll(/const (\w+): &str = "([^"]*)"/g)) {
  for (const name of list.replaceAll('\\\n', ' ').trim().split(/\s+/)) {
    const prefixes = { CATEGORIES: ['', 'gc='], BINARY: [''], SCRIPTS: ['sc=', 'scx='] }[table];
    for (const prefix of prefixes) new RegExp(`\\p{${prefix}${name}}`, 'u');
  }
}

record('classes', {
  unicode: process.versions.unicode,
  assigned: ranges('\\p{Assigned}', 'u'),
  classes: Object.fromEntries(classes.map((it) => [it, ranges(it, 'u')])),
  folded: Object.fromEntries(folded.map((it) => [it, ranges(it, 'iu')])),
  properties: Object.fromEntries(properties.map((it) => [it, ranges(`\\p{${it}}`, 'u')])),
});

// A generator of numbers that are the same in every run.
let state = 12345;
function below(limit) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}
const pick = (list) => list[below(list.length)];

function pattern(depth, groups) {
  const parts = [];
  for (let left = 1 + below(4); left > 0; left -= 1) parts.push(part(depth, groups));
  return below(5) === 0 ? `${parts.join('')}|${part(depth, groups)}` : parts.join('');
}

function part(depth, groups) {
  const leaf = ['a', 'b', 'c', 'é', '-', '1', '.', '\\w', '\\d', '\\W', '\\s', '[ab]', '[^a]', '[a-c]', '[]', '[^]', '\\p{L}'];
  const around = ['(?=', '(?!', '(?<=', '(?<!'];
  const kind = below(20);
  if (kind < 2) return pick(['^', '$', '\\b', '\\B']);
  if (depth > 0 && kind < 5) return `${pick(around)}${pattern(depth - 1, groups)})`;
  let atom = pick(leaf);
  if (depth > 0 && kind < 8) atom = `(?:${pattern(depth - 1, groups)})`;
  else if (depth > 0 && kind < 11) {
    groups.count += 1;
    atom = `(${pattern(depth - 1, groups)})`;
  } else if (kind < 15 && groups.allowed && groups.count > 0) {
    // The last one may not have begun.
    atom = `\\${1 + below(groups.count + 1)}`;
  }
  const counts = ['', '', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}', '{1,2}?', '{0}'];
  return atom + pick(counts);
}

const texts = [
  '', 'a', 'b', 'é', '1', '-', ' ', '\n', 'ab', 'ba', 'aa', 'aé', 'éa', 'a1', 'a-b', 'aba', 'abc', 'abab', 'aab-1', 'caab',
  'éaé', 'a b', 'ab\nab', 'bb1bb', 'cabac', '😀a', 'a\u2028', 'aéaéa', 'abcabc', 'aaaaaaaa',
];
const outcome = (expression) => {
  const regex = new RegExp(expression, 'u');
  return texts.map((text) => {
    const at = regex.exec(text)?.index;
    // V8 sometimes finds an empty match within a surrogate pair, which ECMA-262 rules out.
    if (at > 0 && text.codePointAt(at - 1) > 0xffff) throw new Error(`a match within a pair: ${expression}`);
    return at === undefined ? '0' : '1';
  }).join('');
};

function generate(count, isWanted) {
  const found = {};
  while (Object.keys(found).length < count) {
    const groups = { count: 0, allowed: below(2) === 0 };
    const expression = pattern(3, groups);
    if (expression.length > 60 || !isWanted(expression)) continue;
    try {
      const bits = outcome(expression);
      // Patterns that match everything or nothing say little.
      if (!/^(0*|1*)$/.test(bits) || below(4) === 0) found[expression] = bits;
    } catch {
      // A reference to a group that does not exist, or a match within a pair.
    }
  }
  return found;
}

// Patterns as users write them, and the same in ECMA-262.
const translated = {
  '\\Aab\\z': '^ab$',
  '(?P<name>a)\\k<name>': '(?<name>a)\\k<name>',
  '\\pL\\PN': '\\p{L}\\P{N}',
  '\\x41|\\x{e9}': '\\u0041|\\u00E9',
  'a\\-b\\ ?': 'a-b ?',
  'a]?': 'a\\]?',
  'a}?': 'a\\}?',
  '(?i)AB': '[Aa][Bb]',
  'a(?i)B': 'a(?:)[Bb]',
  '(?i:A)b': '(?:[Aa])b',
  '(?i)É': '[\\u00C9\\u00E9]',
  '(?s)a.b': 'a[\\s\\S]b',
  '(?s-s:a.)': '(?:a.)',
  '\\uD83D\\uDE00a': '\\u{1F600}a',
};
// The same, and the same as in JavaScript: everyday patterns.
const everyday = [
  '^\\w{3,30}$', "^[\\p{L}\\d .'-]{1,100}$", '^(?=.*\\d)(?=.*[a-z]).{4,}$', '^(?!-)[a-z0-9-]{1,63}(?<!-)$',
  '^((?!ab).)*$', '(?=.*\\d)(?=.*[a-z]).{3,}', '^(?:a|b(?=1))+', '(a)?\\1b', '(?:(a)|b)*\\1$', '(?:\\1(a))+b', '(\\1a)',
  '^(a?)*\\1$', '(?<=\\1(a))b', '(?<=(a)\\1)b', '(?!(a)b)\\1c', '(?=(a+))a*b\\1', '^(?:(a)|(b))+\\2$', '(z)((a+)?(b+)?(c))*',
  '(?<year>a)(?:\\k<year>)', '\\bab\\b', '^\\S+$', '^\\D*$', '(.)\\1', '^.+$', '^[^]+$', '(?<![ab])c', '^(?:(?=a)a|b)+$',
];

record('searches', {
  texts,
  translated: Object.fromEntries(
    Object.entries(translated).map(([ours, ecma]) => [ours, [ecma, outcome(ecma)]]),
  ),
  everyday: Object.fromEntries(everyday.map((it) => [it, outcome(it)])),
  generated: generate(2500, () => true),
  references: generate(1000, (expression) => /\\[1-9]/.test(expression)),
});
