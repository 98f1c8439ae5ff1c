/**
 * The conformance kit that every provider passes. A check is a method annotated with {@link
 * dev.isola.conformance.Check}, which names the requirement that it covers. It receives a {@link
 * dev.isola.conformance.CheckContext} and throws if the provider violates the contract. {@link
 * dev.isola.conformance.kit.ConformanceKit} lists all checks, {@link
 * dev.isola.conformance.CheckRunner} runs them against a provider, and {@link
 * dev.isola.conformance.junit.ConformanceTest} runs them as JUnit tests.
 *
 * <p>A check passes, fails, or is not run for a stated reason. Nothing is skipped silently: a check
 * that needs an undeclared capability or a missing program says so.
 */
@NullMarked
package dev.isola.conformance;

import org.jspecify.annotations.NullMarked;
