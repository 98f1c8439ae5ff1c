package dev.isola.codec.wrong;

/** Violates a rule by its name: only one package handles tar headers. */
final class TarHeader {}
