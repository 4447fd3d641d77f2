package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// untilReleased returns a channel that closes when whoever started this process lets go of it: stdin ends
// (the starter closed its end of the pipe, or died) or a signal asks for the end.
func untilReleased() <-chan struct{} {
	released := make(chan struct{})
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		ended <- struct{}{}
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-signals
		ended <- struct{}{}
	}()
	go func() {
		<-ended
		close(released)
	}()
	return released
}
