package dev.isola.engine.config;

/** A value and its origin. */
public record SourcedValue<T>(T value, ValueOrigin origin) {}
