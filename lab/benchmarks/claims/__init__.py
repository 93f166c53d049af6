"""Answers about passages, written by somebody who had not seen the rules of the audit."""
