/** Ends of a destination that show whether a component decoded, joined or normalized a path. */
export const tellingPaths: readonly (readonly [title: string, path: string])[] = [
  ['an encoded slash', '/a%2Fb'],
  ['an encoded question mark', '/a%3Fb'],
  ['an encoded space', '/a%20b'],
  ['an encoded hash and percent sign', '/a%23b%25c'],
  ['non-ASCII characters', '/caf%C3%A9/%E2%9C%93'],
  ['lower-case escapes', '/caf%c3%a9'],
  ['doubled slashes', '/a//b///c'],
  ['dots', '/a/../b/./c'],
  ['punctuation', "/a;b=c,d:e@f!$&'()*+~"],
  ['another URL inside', '/https://example.com/x'],
  ['a trailing slash', '/a/'],
];
