package dev.isola.spi.file;

/** The number of entries of an imported archive, and the bytes of their content. */
public record TreeSummary(long entries, long bytes) {}
