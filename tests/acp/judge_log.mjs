// Judges what perch has sent as a client of ACP: the lines "< …" of a log of hosted.py.
import { readFileSync } from 'node:fs';
import { judge } from './judge.mjs';

const lines = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean).map((line) => ({
    from: line[0] === '<' ? 'us' : 'them', text: line.slice(2) }));
if (judge(lines, 'client') < 3)
    throw new Error('there is little to judge');
