/** Commands that call a server. */
@NullMarked
package dev.isola.app.remote;

import org.jspecify.annotations.NullMarked;
