import { decodeToken, encodeToken, type ListPage, type ListQuery } from './listing.js';

/** A listing that goes wrong: see `applyListingFault` for each. */
export interface ListingFault {
  kind: 'listing';
  how: 'no-token' | 'same-token' | 'empty-page' | 'unordered' | 'missing-entries';
  /** Entries left out by `missing-entries`; default 1. */
  entries?: number;
}

/** The page as the fault makes it. */
export function applyListingFault(fault: ListingFault, page: ListPage, query: ListQuery): ListPage {
  switch (fault.how) {
    case 'no-token': // truncated, and no way to go on
      return { ...page, truncated: true, nextToken: null };
    case 'same-token': // the client is sent back to the page that it has just read
      return {
        ...page,
        truncated: true,
        nextToken: query.token ?? page.nextToken ?? encodeToken(page.resumeFrom),
      };
    case 'empty-page': // nothing here, but more to come: the next token goes on where this page began
      return {
        ...page,
        contents: [],
        commonPrefixes: [],
        keyCount: 0,
        truncated: true,
        nextToken: encodeToken(page.resumeFrom, 1 + (decodeToken(query.token ?? '')?.nonce ?? 0)),
      };
    case 'unordered':
      return { ...page, contents: [...page.contents].reverse() };
    case 'missing-entries': {
      // KeyCount keeps the true number: the one sign by which a client can tell.
      const contents = [...page.contents];
      contents.splice(Math.floor(contents.length / 2), fault.entries ?? 1);
      return { ...page, contents };
    }
  }
}
