/** Words of the search: `Svc-Retry-Delay` and `rate_limit_reached` are one word each, and also their parts. */
export const tokenize = (text: string): string[] => [
  ...text.split(/[\s\p{P}\p{S}]+/u).filter((word) => word !== ''),
  ...(text.match(/[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)+/gu) ?? []),
];

/** The order of results. A page or section that is called like the words comes first. */
export const searchOptions = { fuzzy: 0.2, prefix: true, boost: { title: 6, text: 2, titles: 1 } };
