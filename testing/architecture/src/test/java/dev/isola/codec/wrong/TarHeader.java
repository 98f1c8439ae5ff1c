package dev.isola.codec.wrong;

/** Breaks a rule by its name: the headers of tar are known in one package. */
final class TarHeader {}
