/**
 * The pages with which people look at a server and use its sandboxes. They are static: all that
 * they show comes from the HTTP API, with the rights of the person who signed in.
 */
@NullMarked
package dev.isola.dashboard;

import org.jspecify.annotations.NullMarked;
