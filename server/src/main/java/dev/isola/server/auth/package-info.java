/** Authentication and scopes. */
@NullMarked
package dev.isola.server.auth;

import org.jspecify.annotations.NullMarked;
