/** Volumes of E2B's clients: their names, and what is in them. */
package dev.isola.server.e2b.volume;
