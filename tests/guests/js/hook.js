// Refuses shell commands that delete recursively. The same hook as in ../python and ../c.

import { argumentAt } from 'callgate:plugin/call-arguments@0.1.0';

export const setup = {
  // An error result is a thrown string.
  configure(settings) {
    if (Object.keys(JSON.parse(settings)).length > 0) throw 'this plugin takes no settings';
  },
};

export const preHook = {
  onCall() {
    const json = argumentAt('/command');
    const command = json === undefined ? undefined : JSON.parse(json);
    if (typeof command === 'string' && command.includes('rm -r')) {
      return { tag: 'deny', val: { reason: 'recursive_delete', message: 'deleting whole folders is not allowed' } };
    }
    return { tag: 'proceed' };
  },
};
