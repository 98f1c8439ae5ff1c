/** Code shared by all commands: options, console, tables, exit codes, data folder. */
@NullMarked
package dev.isola.app.cli;

import org.jspecify.annotations.NullMarked;
