package dev.isola.engine.config;

/** A value and where it came from. */
public record Given<T>(T value, Origin origin) {}
