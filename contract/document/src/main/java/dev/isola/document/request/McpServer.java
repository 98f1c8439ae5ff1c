package dev.isola.document.request;

import dev.isola.spi.exec.Command;

/**
 * A server of the Model Context Protocol that the sandbox hosts.
 *
 * @param command the program, which speaks the protocol on standard input and output
 */
public record McpServer(Command command, RestartPolicy restart) {}
