/** Who may come in, and what a key allows. */
@NullMarked
package dev.isola.server.auth;

import org.jspecify.annotations.NullMarked;
