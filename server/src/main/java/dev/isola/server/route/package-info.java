/**
 * The table of routes: each route is declared once, for validation and for the OpenAPI document.
 */
@NullMarked
package dev.isola.server.route;

import org.jspecify.annotations.NullMarked;
