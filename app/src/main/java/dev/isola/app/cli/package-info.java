/** What all commands share: options, console, tables, exit codes, the data folder. */
@NullMarked
package dev.isola.app.cli;

import org.jspecify.annotations.NullMarked;
