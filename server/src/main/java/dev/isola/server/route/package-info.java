/** The table of routes: what each takes and answers, said once for checking and for describing. */
@NullMarked
package dev.isola.server.route;

import org.jspecify.annotations.NullMarked;
