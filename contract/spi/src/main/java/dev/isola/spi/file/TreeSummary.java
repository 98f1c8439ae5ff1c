package dev.isola.spi.file;

/** What an archive held: entries, and bytes of file content. */
public record TreeSummary(long entries, long bytes) {}
