// What all views know: who is signed in, and what may be used.

import { api } from "./api.js";

export const world = { user: null, catalog: { agents: [], tools: [], commands: [] } };

export async function readWorld() {
  const { user, ...catalog } = await api.catalog();
  world.user = user;
  world.catalog = catalog;
  return world;
}

export const isAdmin = () => world.user?.role === "admin";
