package dev.isola.engine.config;

/** A value and where it came from. */
public record SourcedValue<T>(T value, ValueOrigin origin) {}
